/* Fields of several steps, written from doubles as floats and packed shorts, and read back whole and in part. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 24, rows = 500, columns = 700 };

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", nc_strerror(status));
  exit(1);
}

static void write_fields(const char *path, const double *field) {
  int file, dimensions[3], as_float, as_short, as_double;
  check(nc_create(path, NC_CLOBBER | NC_64BIT_OFFSET, &file));
  check(nc_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]));
  check(nc_def_dim(file, "y", rows, &dimensions[1]));
  check(nc_def_dim(file, "x", columns, &dimensions[2]));
  check(nc_def_var(file, "float", NC_FLOAT, 3, dimensions, &as_float));
  check(nc_def_var(file, "short", NC_SHORT, 3, dimensions, &as_short));
  check(nc_def_var(file, "double", NC_DOUBLE, 3, dimensions, &as_double));
  check(nc_enddef(file));
  for (size_t t = 0; t < steps; ++t) {
    const size_t start[] = {t, 0, 0}, count[] = {1, rows, columns};
    check(nc_put_vara_double(file, as_float, start, count, field));
    check(nc_put_vara_double(file, as_short, start, count, field));
    check(nc_put_vara_double(file, as_double, start, count, field));
  }
  check(nc_close(file));
}

static double read_fields(const char *path, double *field) {
  int file;
  double sum = 0;
  check(nc_open(path, NC_NOWRITE, &file));
  for (int variable = 0; variable < 3; ++variable)
    for (size_t t = 0; t < steps; ++t) {
      const size_t start[] = {t, 0, 0}, count[] = {1, rows, columns}, half[] = {1, rows / 2, columns / 2};
      const ptrdiff_t stride[] = {1, 2, 2};
      check(nc_get_vara_double(file, variable, start, count, field));
      for (size_t i = 0; i < rows * columns; ++i) sum += field[i];
      check(nc_get_vars_double(file, variable, start, half, stride, field));
      sum += field[7];
    }
  check(nc_close(file));
  return sum;
}

int main(int count, char **words) {
  double *field = malloc(sizeof(double) * rows * columns);
  for (size_t i = 0; i < rows * columns; ++i) field[i] = (double)(i * 7919 % 30000) + 0.25;
  if (count < 2) return 2;
  for (int k = 0; k < 6; ++k) {
    write_fields(words[1], field);
    printf("%.17g\n", read_fields(words[1], field));
  }
  return 0;
}
