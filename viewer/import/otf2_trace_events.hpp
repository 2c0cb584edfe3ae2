// The events of an OTF2 archive, handed to a Converter. Private to otf2_trace.cpp.
#pragma once

#include <otf2/otf2.h>

#include "viewer/import/converter.hpp"

namespace pclscope::importing {

inline constexpr OTF2_CallbackCode go_on = OTF2_CALLBACK_SUCCESS;

// What the callbacks get as their user data.
struct Feeding {
  Converter& converter;
  const Trace& trace;
  OTF2_AttributeRef call_path, any_source;
};

// For OTF2_GlobalEvtReaderCallbacks_Delete.
OTF2_GlobalEvtReaderCallbacks* event_callbacks();

}  // namespace pclscope::importing
