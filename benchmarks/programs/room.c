/* room simulation: convolution with an impulse response (time domain), resampling by polyphase, limiter */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define TAPS 2048
#define PHASES 7
#define PTAPS 32
static float ir[TAPS];
static float poly[PHASES][PTAPS];
static void convolve(const float *x, float *y, long n)
{
    for (long i = 0; i < n; i++) {
        float acc = 0;
        long m = i < TAPS - 1 ? i : TAPS - 1;
        for (long k = 0; k <= m; k++) acc += ir[k] * x[i - k];
        y[i] = acc;
    }
}
static long upsample(const float *x, long n, float *y)
{
    long out = 0;
    for (long i = PTAPS; i < n; i++)
        for (int p = 0; p < PHASES; p++) {
            float s = 0;
            for (int k = 0; k < PTAPS; k++) s += x[i - k] * poly[p][k];
            y[out++] = s;
        }
    return out;
}
static void limiter(float *y, long n, float attack, float release)
{
    float env = 0;
    for (long i = 0; i < n; i++) {
        float a = fabsf(y[i]);
        env = a > env ? attack * env + (1 - attack) * a : release * env;
        if (env > 0.5f) y[i] *= 0.5f / env;
    }
}
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 200000;
    float *x = malloc(n * sizeof(float)), *y = malloc(n * sizeof(float)), *z = malloc(n * PHASES * sizeof(float));
    for (int i = 0; i < TAPS; i++) ir[i] = sinf(i * 12.9898f) * expf(-i / 300.0f);
    for (int p = 0; p < PHASES; p++)
        for (int k = 0; k < PTAPS; k++) poly[p][k] = cosf(p * 0.3f + k * 0.2f) / PTAPS;
    for (long i = 0; i < n; i++) x[i] = sinf(i * 0.05f) + 0.3f * sinf(i * 0.31f);
    convolve(x, y, n);
    long m = upsample(y, n, z);
    limiter(z, m, 0.99f, 0.9995f);
    double s = 0;
    for (long i = 0; i < m; i++) s += fabsf(z[i]);
    printf("%ld %.6g\n", m, s);
}
