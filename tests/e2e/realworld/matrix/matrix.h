void multiply(int n, const double* a, const double* b, double* c);
void transpose(int n, double* a);
double trace(int n, const double* a);
