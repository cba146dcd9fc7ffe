// GStreamer, its application elements, its RTSP server and its WebRTC, whose functions Swift calls as they are.
#pragma once
#if !__has_include(<gst/gst.h>) || !__has_include(<gst/rtsp-server/rtsp-server.h>) || !__has_include(<gst/webrtc/webrtc.h>)
#error "apt install libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev libgstrtspserver-1.0-dev, or build without the trait Video: swift build --disable-default-traits --traits …"
#else
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/rtsp-server/rtsp-server.h>
#include "reports.h"
#include "webrtc.h"
#endif
