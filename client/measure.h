// Measuring on the spot (--measure): the nest as lifted against the nest with a recipe, both generated, in one program
// that fills the arguments with tame random data and runs them in turn.
#pragma once

#include "client/nest.h"
#include "client/pipeline.h"

namespace sous::client {

// Errors: measure.sizes (a size is not known: give --size), measure.gather (a subscript or a bound is read from memory:
// random data would be no tame input), measure.build, measure.run.
Result<transforms::Evidence> measure_on_the_spot(const Nest& nest, const Choice& choice, const Meaning& meaning,
                                                 const Options& options);

// Median and half the interquartile range relative to it.
struct Summary {
  double median = 0, spread = 0;
};
Summary summarize(std::vector<double> values);

// Threads that measured programs run on: $OMP_NUM_THREADS, or all cores.
int measuring_threads();
bool has_parallel_loop(const sdfg::Sdfg& sdfg);

}  // namespace sous::client
