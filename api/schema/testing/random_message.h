// Random messages for property tests.
#ifndef TRENCADIS_API_SCHEMA_TESTING_RANDOM_MESSAGE_H_
#define TRENCADIS_API_SCHEMA_TESTING_RANDOM_MESSAGE_H_

#include <google/protobuf/message.h>

#include <random>

namespace trencadis::schema::testing {

// Fills about a third of the options of `message`, a tool's message, with values of their type:
// extreme numbers, texts with quotes, dashes, spaces, control characters and other scripts.
// Options that the tool does not know stay unset. Choices and ranges are not respected.
void FillAtRandom(std::mt19937_64* random, google::protobuf::Message* message);

}  // namespace trencadis::schema::testing

#endif  // TRENCADIS_API_SCHEMA_TESTING_RANDOM_MESSAGE_H_
