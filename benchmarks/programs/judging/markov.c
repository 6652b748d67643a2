/* forward-backward of a hidden Markov model with scaling, expected counts */
#include <stdio.h>
#include <stdlib.h>
#define S 48
#define M 20
static double A[S][S], B[S][M], pi[S];
static double run(int T, const int *o, double (*alpha)[S], double (*beta)[S], double *scale, double (*xi)[S])
{
    double ll = 0;
    for (int t = 0; t < T; t++) {
        scale[t] = 0;
        for (int j = 0; j < S; j++) {
            double s = 0;
            if (t == 0) s = pi[j];
            else for (int i = 0; i < S; i++) s += alpha[t - 1][i] * A[i][j];
            alpha[t][j] = s * B[j][o[t]];
            scale[t] += alpha[t][j];
        }
        for (int j = 0; j < S; j++) alpha[t][j] /= scale[t];
        ll += scale[t] * 1e-3;
    }
    for (int j = 0; j < S; j++) beta[T - 1][j] = 1;
    for (int t = T - 2; t >= 0; t--)
        for (int i = 0; i < S; i++) {
            double s = 0;
            for (int j = 0; j < S; j++) s += A[i][j] * B[j][o[t + 1]] * beta[t + 1][j];
            beta[t][i] = s / scale[t + 1];
        }
    for (int t = 0; t < T - 1; t++)
        for (int i = 0; i < S; i++)
            for (int j = 0; j < S; j++) xi[i][j] += alpha[t][i] * A[i][j] * B[j][o[t + 1]] * beta[t + 1][j] / scale[t + 1];
    return ll;
}
int main(int argc, char **argv)
{
    int T = argc > 1 ? atoi(argv[1]) : 20000;
    int *o = malloc(4 * T);
    double (*alpha)[S] = malloc(T * sizeof *alpha), (*beta)[S] = malloc(T * sizeof *beta), *scale = malloc(8 * T), (*xi)[S] = calloc(S, sizeof *xi);
    for (int i = 0; i < S; i++) {
        pi[i] = 1.0 / S;
        double a = 0, b = 0;
        for (int j = 0; j < S; j++) a += A[i][j] = 1 + (i * 7 + j * 3) % 11;
        for (int j = 0; j < S; j++) A[i][j] /= a;
        for (int k = 0; k < M; k++) b += B[i][k] = 1 + (i * 5 + k) % 9;
        for (int k = 0; k < M; k++) B[i][k] /= b;
    }
    for (int t = 0; t < T; t++) o[t] = (t * 31 + t / 7) % M;
    double ll = run(T, o, alpha, beta, scale, xi), s = 0;
    for (int i = 0; i < S; i++) for (int j = 0; j < S; j++) s += xi[i][j] * (i + 2 * j);
    printf("%.12g %.12g\n", ll, s);
}
