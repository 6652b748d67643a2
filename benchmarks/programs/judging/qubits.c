/* a quantum spin chain: applying gates to a state vector of complex amplitudes */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void gate1(double complex *psi, int qubits, int q, double complex g[2][2])
{
    long size = 1L << qubits, bit = 1L << q;
    for (long i = 0; i < size; i += 2 * bit)
        for (long j = i; j < i + bit; j++) {
            double complex a = psi[j], b = psi[j + bit];
            psi[j] = g[0][0] * a + g[0][1] * b;
            psi[j + bit] = g[1][0] * a + g[1][1] * b;
        }
}
static void phase(double complex *psi, int qubits, int q, int r, double complex w)
{
    long size = 1L << qubits;
    for (long i = 0; i < size; i++)
        if ((i >> q & 1) && (i >> r & 1)) psi[i] *= w;
}
int main(int argc, char **argv)
{
    int qubits = argc > 1 ? atoi(argv[1]) : 18;
    long size = 1L << qubits;
    double complex *psi = malloc(size * sizeof *psi);
    for (long i = 0; i < size; i++) psi[i] = 0;
    psi[5] = 1;
    double r = sqrt(0.5);
    double complex h[2][2] = {{r, r}, {r, -r}}, t[2][2] = {{1, 0}, {0, cos(0.3) + I * sin(0.3)}};
    for (int layer = 0; layer < 3; layer++)
        for (int q = 0; q < qubits; q++) {
            gate1(psi, qubits, q, h);
            gate1(psi, qubits, q, t);
            phase(psi, qubits, q, (q + 1) % qubits, cos(0.1 * q) + I * sin(0.1 * q));
        }
    double s = 0;
    for (long i = 0; i < size; i++) s += (creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i])) * (i % 17);
    printf("%.17g\n", s);
}
