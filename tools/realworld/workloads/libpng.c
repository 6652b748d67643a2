/* An image written with each filter and read back with the transformations that viewers ask for, in memory, at the
 * lowest compression: so that more than half of the time is not zlib's. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { width = 2000, height = 1500 };

struct memory {
  unsigned char *bytes;
  size_t used, place;
};

static void put(png_structp png, png_bytep data, size_t count) {
  struct memory *to = png_get_io_ptr(png);
  memcpy(to->bytes + to->used, data, count);
  to->used += count;
}

static void flush(png_structp png) { (void)png; }

static void get(png_structp png, png_bytep data, size_t count) {
  struct memory *from = png_get_io_ptr(png);
  memcpy(data, from->bytes + from->place, count);
  from->place += count;
}

static void write_image(struct memory *to, png_bytep pixels, int filter) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, 0, 0, 0);
  png_infop info = png_create_info_struct(png);
  to->used = 0;
  png_set_write_fn(png, to, put, flush);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, 1);
  png_set_filter(png, 0, filter);
  png_write_info(png, info);
  for (int y = 0; y < height; ++y) png_write_row(png, pixels + (size_t)y * width * 3);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
}

static unsigned long read_image(struct memory *from, png_bytep row, int gray) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, 0, 0, 0);
  png_infop info = png_create_info_struct(png);
  unsigned long sum = 0;
  from->place = 0;
  png_set_read_fn(png, from, get);
  png_read_info(png, info);
  if (gray) {
    png_set_gamma(png, 2.2, 0.6);
    png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, -1, -1);
  } else {
    png_set_filler(png, 0xff, PNG_FILLER_AFTER);
  }
  png_read_update_info(png, info);
  for (int y = 0; y < height; ++y) {
    png_read_row(png, row, 0);
    sum = sum * 31 + row[y % (width * 4)];
  }
  png_destroy_read_struct(&png, &info, 0);
  return sum;
}

int main(void) {
  const int filters[] = {PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH, PNG_ALL_FILTERS};
  struct memory memory = {malloc((size_t)width * height * 4), 0, 0};
  png_bytep pixels = malloc((size_t)width * height * 3), row = malloc(width * 4);
  unsigned state = 3;
  for (size_t i = 0; i < (size_t)width * height * 3; ++i)
    pixels[i] = (unsigned char)(i % (width * 3) / 24 + i / (width * 3) / 9 + ((state = state * 1103515245U + 12345U) >> 29));
  for (int k = 0; k < 40; ++k) {
    write_image(&memory, pixels, filters[k % 5]);
    printf("%zu %lu", memory.used, read_image(&memory, row, 0));
    printf(" %lu\n", read_image(&memory, row, 1));
  }
  return 0;
}
