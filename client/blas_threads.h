// FAISS brings a BLAS along, of which a build needs nothing. OpenBLAS starts a thread for each processor as it is
// loaded, and these look for work for some 30 ms before they sleep: half of what sous-core takes for a small file.
// How many it starts only the environment says, and only when it is loaded.
#pragma once

namespace sous::client {

// Before sous-core is started: none but its own.
void spare_blas_threads();
// In sous-core: the environment is the user's again, for what is run from here.
void forget_spared_blas_threads();

}  // namespace sous::client
