// PostgreSQL's client library, looked up at run time: with all that it brings along it would cost every compile 2.5 ms
// if the programs were linked with it.
#pragma once

#include <libpq-fe.h>

namespace sous::tuning_db {

// The functions that are used, under their own names.
// clang-format off
#define SOUS_LIBPQ(X) \
  X(PQclear) X(PQcmdStatus) X(PQcmdTuples) X(PQconnectPoll) X(PQconnectStartParams) X(PQconsumeInput) X(PQerrorMessage) \
  X(PQfinish) X(PQflush) X(PQfreemem) X(PQftype) X(PQgetResult) X(PQgetisnull) X(PQgetlength) X(PQgetvalue) \
  X(PQisBusy) X(PQnotifies) X(PQntuples) X(PQpingParams) X(PQresultErrorField) X(PQresultStatus) X(PQsendPrepare) \
  X(PQsendQuery) X(PQsendQueryPrepared) X(PQsetNoticeProcessor) X(PQsetnonblocking) X(PQsocket) X(PQstatus) \
  X(PQunescapeBytea)
// clang-format on

struct Libpq {
#define SOUS_LIBPQ_MEMBER(name) decltype(&::name) name = nullptr;
  SOUS_LIBPQ(SOUS_LIBPQ_MEMBER)
#undef SOUS_LIBPQ_MEMBER
};

// Null: it is not on this system, or lacks one of the functions. It stays loaded.
const Libpq* libpq();

}  // namespace sous::tuning_db
