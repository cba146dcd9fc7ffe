// What webrtcbin does by signals and properties, whose C functions take any number of arguments and are therefore closed to Swift.
#pragma once
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#define GST_USE_UNSTABLE_API
#include <gst/webrtc/webrtc.h>

// Binds the candidates to an address; the first call ends the search for addresses.
static inline gboolean webrtc_add_address(GstElement *bin, const char *address) {
  GObject *ice = NULL;
  gboolean is_added = FALSE;
  g_object_get(bin, "ice-agent", &ice, NULL);
  if (ice == NULL) return FALSE;
  g_signal_emit_by_name(ice, "add-local-ip-address", address, &is_added);
  g_object_unref(ice);
  return is_added;
}

// Datagrams alone, on ports from 49152 on as those of RTSP, and nothing asked of a router (UPnP).
static inline void webrtc_limit_candidates(GstElement *bin) {
  GObject *ice = NULL, *agent = NULL;
  g_object_get(bin, "ice-agent", &ice, NULL);
  if (ice == NULL) return;
  g_object_set(ice, "min-rtp-port", 49152u, "max-rtp-port", 65535u, NULL);
  g_object_get(ice, "agent", &agent, NULL);
  if (agent != NULL) {
    g_object_set(agent, "upnp", FALSE, "ice-tcp", FALSE, NULL);
    g_object_unref(agent);
  }
  g_object_unref(ice);
}

// Sends only, and sends again what a viewer says is lost.
static inline void webrtc_send_only(GstElement *bin) {
  GstWebRTCRTPTransceiver *transceiver = NULL;
  g_signal_emit_by_name(bin, "get-transceiver", 0, &transceiver);
  if (transceiver == NULL) return;
  g_object_set(transceiver, "direction", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_SENDONLY, "do-nack", TRUE, NULL);
  gst_object_unref(transceiver);
}

static inline char *webrtc_error(GstPromise *promise) {
  const GstStructure *reply = gst_promise_get_reply(promise);
  GError *error = NULL;
  if (reply == NULL || !gst_structure_has_field(reply, "error")) return NULL;
  gst_structure_get(reply, "error", G_TYPE_ERROR, &error, NULL);
  char *text = g_strdup(error != NULL ? error->message : "no reason given");
  g_clear_error(&error);
  return text;
}

// Sets a description and waits until that is done. Takes the description; returns NULL, or what is wrong, to be freed.
static inline char *webrtc_describe(GstElement *bin, const char *signal, GstWebRTCSessionDescription *description) {
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(bin, signal, description, promise);
  gst_webrtc_session_description_free(description);
  char *error = gst_promise_wait(promise) == GST_PROMISE_RESULT_REPLIED ? webrtc_error(promise)
                                                                        : g_strdup("the session has ended");
  gst_promise_unref(promise);
  return error;
}

// Takes an offer and makes an answer to it, for which candidates are then searched. Returns NULL, or what is wrong, to be freed.
static inline char *webrtc_take_offer(GstElement *bin, const char *text) {
  GstSDPMessage *message = NULL;
  if (gst_sdp_message_new_from_text(text, &message) != GST_SDP_OK) return g_strdup("it is no session description");
  char *error = webrtc_describe(bin, "set-remote-description",
                                gst_webrtc_session_description_new(GST_WEBRTC_SDP_TYPE_OFFER, message));
  if (error != NULL) return error;
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(bin, "create-answer", NULL, promise);
  GstWebRTCSessionDescription *answer = NULL;
  if (gst_promise_wait(promise) == GST_PROMISE_RESULT_REPLIED) {
    error = webrtc_error(promise);
    const GstStructure *reply = gst_promise_get_reply(promise);
    if (error == NULL && reply != NULL)
      gst_structure_get(reply, "answer", GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &answer, NULL);
  }
  gst_promise_unref(promise);
  if (answer == NULL) return error != NULL ? error : g_strdup("there is no answer to it");
  return webrtc_describe(bin, "set-local-description", answer);
}

// Returns the answer with the candidates found so far, to be freed, or NULL before there is an answer.
static inline char *webrtc_answer(GstElement *bin) {
  GstWebRTCSessionDescription *answer = NULL;
  g_object_get(bin, "local-description", &answer, NULL);
  if (answer == NULL) return NULL;
  char *text = gst_sdp_message_as_text(answer->sdp);
  gst_webrtc_session_description_free(answer);
  return text;
}

static inline gboolean webrtc_has_gathered(GstElement *bin) {
  GstWebRTCICEGatheringState state = GST_WEBRTC_ICE_GATHERING_STATE_NEW;
  g_object_get(bin, "ice-gathering-state", &state, NULL);
  return state == GST_WEBRTC_ICE_GATHERING_STATE_COMPLETE;
}

static inline GstWebRTCPeerConnectionState webrtc_state(GstElement *bin) {
  GstWebRTCPeerConnectionState state = GST_WEBRTC_PEER_CONNECTION_STATE_NEW;
  g_object_get(bin, "connection-state", &state, NULL);
  return state;
}
