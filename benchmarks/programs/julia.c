/* Julia sets in float complex */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
static int escape(float complex z, float complex c, int most)
{
    int k;
    for (k = 0; k < most; k++) {
        if (crealf(z) * crealf(z) + cimagf(z) * cimagf(z) > 4.0f) break;
        z = z * z + c;
    }
    return k;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 600;
    int *out = malloc(sizeof *out * n * n);
    long s = 0;
    for (int frame = 0; frame < 4; frame++) {
        float complex c = -0.7f + 0.02f * frame + 0.27015f * I;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                out[y * n + x] = escape(3.0f * x / n - 1.5f + (2.4f * y / n - 1.2f) * I, c, 200);
        for (int i = 0; i < n * n; i++) s += out[i];
    }
    printf("%ld\n", s);
}
