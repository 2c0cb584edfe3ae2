#include "viewer/import/otf2_trace_events.hpp"

namespace pclscope::importing {
namespace {

Feeding& to(void* user) { return *static_cast<Feeding*>(user); }
using At = Converter::At;

std::uint32_t context_in(const OTF2_AttributeList* list, OTF2_AttributeRef attribute) {
  OTF2_CallingContextRef context = undefined;
  if (attribute == OTF2_UNDEFINED_ATTRIBUTE || OTF2_AttributeList_GetNumberOfElements(list) == 0 ||
      !OTF2_AttributeList_TestAttributeByID(list, attribute) ||
      OTF2_AttributeList_GetCallingContextRef(list, attribute, &context) != OTF2_SUCCESS)
    return undefined;
  return context;
}

bool is_set(const OTF2_AttributeList* list, OTF2_AttributeRef attribute) {
  std::uint8_t value = 0;
  return attribute != OTF2_UNDEFINED_ATTRIBUTE && OTF2_AttributeList_GetNumberOfElements(list) > 0 &&
         OTF2_AttributeList_TestAttributeByID(list, attribute) &&
         OTF2_AttributeList_GetUint8(list, attribute, &value) == OTF2_SUCCESS && value != 0;
}

void set_messages(OTF2_GlobalEvtReaderCallbacks* c) {
  using List = OTF2_AttributeList;
  OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint32_t receiver, OTF2_CommRef comm,
            std::uint32_t tag, std::uint64_t bytes) {
        to(user).converter.send({l, t}, comm, receiver, tag, bytes);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint32_t receiver, OTF2_CommRef comm,
            std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
        to(user).converter.isend({l, t}, comm, receiver, tag, bytes, request);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint64_t request) {
        to(user).converter.isend_complete({l, t}, request);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint64_t request) {
        to(user).converter.post({l, t}, request, false);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List* list, std::uint32_t sender, OTF2_CommRef comm,
            std::uint32_t tag, std::uint64_t bytes) {
        to(user).converter.receive({l, t}, comm, sender, tag, bytes, is_set(list, to(user).any_source));
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint32_t sender, OTF2_CommRef comm,
            std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
        to(user).converter.receive_posted({l, t}, comm, sender, tag, bytes, request);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiRequestCancelledCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint64_t request) {
        to(user).converter.cancelled({l, t}, request);
        return go_on;
      });
}

void set_collectives(OTF2_GlobalEvtReaderCallbacks* c) {
  using List = OTF2_AttributeList;
  OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_CollectiveOp op, OTF2_CommRef comm,
            std::uint32_t root, std::uint64_t sent, std::uint64_t) {
        to(user).converter.collective({l, t}, op, comm, root, sent);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, std::uint64_t request) {
        to(user).converter.post({l, t}, request, true);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_CollectiveOp, OTF2_CommRef comm,
            std::uint32_t root, std::uint64_t sent, std::uint64_t, std::uint64_t request) {
        to(user).converter.collective_posted({l, t}, comm, root, sent, request);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetRmaPutCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_RmaWinRef window, std::uint32_t remote,
            std::uint64_t bytes, std::uint64_t) {
        to(user).converter.one_sided({l, t}, window, remote, bytes);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetRmaGetCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_RmaWinRef window, std::uint32_t remote,
            std::uint64_t bytes, std::uint64_t) {
        to(user).converter.one_sided({l, t}, window, remote, bytes);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetRmaAtomicCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_RmaWinRef window, std::uint32_t remote,
            OTF2_RmaAtomicType, std::uint64_t sent, std::uint64_t, std::uint64_t) {
        to(user).converter.one_sided({l, t}, window, remote, sent);
        return go_on;
      });
}

}  // namespace

OTF2_GlobalEvtReaderCallbacks* event_callbacks() {
  using List = OTF2_AttributeList;
  auto* const c = OTF2_GlobalEvtReaderCallbacks_New();
  OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(c, [](OTF2_LocationRef, OTF2_TimeStamp, void* user, List*) {
    to(user).converter.unknown();
    return go_on;
  });
  OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List* list, OTF2_RegionRef region) {
        to(user).converter.enter({l, t}, region, context_in(list, to(user).call_path));
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_RegionRef region) {
        to(user).converter.leave({l, t}, region);
        return go_on;
      });
  // The same, of traces that were sampled: the path stands beside the call.
  OTF2_GlobalEvtReaderCallbacks_SetCallingContextEnterCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_CallingContextRef context, std::uint32_t) {
        const auto& contexts = to(user).trace.defined.contexts;
        const auto at = contexts.find(context);
        if (at != contexts.end()) to(user).converter.enter({l, t}, at->second.region, at->second.parent);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetCallingContextLeaveCallback(
      c, [](OTF2_LocationRef l, OTF2_TimeStamp t, void* user, List*, OTF2_CallingContextRef context) {
        const auto& contexts = to(user).trace.defined.contexts;
        const auto at = contexts.find(context);
        if (at != contexts.end()) to(user).converter.leave({l, t}, at->second.region);
        return go_on;
      });
  set_messages(c);
  set_collectives(c);
  return c;
}

}  // namespace pclscope::importing
