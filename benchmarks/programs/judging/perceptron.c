// A network of dense layers over a batch of inputs: rectified linear units, a logistic output.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum { RELU, LOGISTIC } activation;

typedef struct {
  int inputs, outputs;
  float *weights;  // outputs rows of inputs
  float *bias;
  activation kind;
} layer;

static unsigned seed = 42;

static float uniform(void) {
  seed = seed * 1103515245u + 12345u;
  return (float)((seed >> 16) & 0x7fff) / 32768.0f - 0.5f;
}

static layer make_layer(int inputs, int outputs, activation kind) {
  layer l = {inputs, outputs, malloc(sizeof(float) * inputs * outputs), malloc(sizeof(float) * outputs), kind};
  float scale = 2.0f / sqrtf((float)inputs);
  for (int i = 0; i < inputs * outputs; i++) l.weights[i] = scale * uniform();
  for (int o = 0; o < outputs; o++) l.bias[o] = 0.1f * uniform();
  return l;
}

static void activate(activation kind, float *values, int count) {
  if (kind == RELU) {
    for (int i = 0; i < count; i++)
      if (values[i] < 0) values[i] = 0;
  } else {
    for (int i = 0; i < count; i++) values[i] = 1.0f / (1.0f + expf(-values[i]));
  }
}

static void forward(const layer *l, int batch, const float *in, float *out) {
  for (int b = 0; b < batch; b++) {
    const float *x = in + (size_t)b * l->inputs;
    float *y = out + (size_t)b * l->outputs;
    for (int o = 0; o < l->outputs; o++) {
      float sum = l->bias[o];
      for (int i = 0; i < l->inputs; i++) sum += l->weights[o * l->inputs + i] * x[i];
      y[o] = sum;
    }
  }
  activate(l->kind, out, batch * l->outputs);
}

int main(int argc, char **argv) {
  int batch = argc > 1 ? atoi(argv[1]) : 600;
  int widths[] = {784, 512, 256, 10};
  layer net[3];
  for (int k = 0; k < 3; k++) net[k] = make_layer(widths[k], widths[k + 1], k < 2 ? RELU : LOGISTIC);
  float *x = malloc(sizeof(float) * batch * 784), *y = malloc(sizeof(float) * batch * 784);
  for (int i = 0; i < batch * widths[0]; i++) x[i] = uniform() + 0.5f;
  for (int k = 0; k < 3; k++) {
    forward(&net[k], batch, x, y);
    float *t = x;
    x = y;
    y = t;
  }
  double sum = 0;
  long classes = 0;
  for (int b = 0; b < batch; b++) {
    int best = 0;
    for (int o = 0; o < 10; o++) {
      sum += x[b * 10 + o] * (o + 1);
      if (x[b * 10 + o] > x[b * 10 + best]) best = o;
    }
    classes += best * (b % 13 + 1);
  }
  printf("%.12g %ld\n", sum, classes);
  for (int k = 0; k < 3; k++) free(net[k].weights), free(net[k].bias);
  free(x);
  free(y);
  return 0;
}
