// gst-rtsp-server as its own examples use it: one shared media, made of the elements given.
// rtsp_server PORT LAUNCH…, for the row "video".
#include <gst/rtsp-server/rtsp-server.h>

int main(int count, char *arguments[]) {
  if (count != 3) return 64;
  gst_init(NULL, NULL);
  GMainLoop *loop = g_main_loop_new(NULL, FALSE);
  GstRTSPServer *server = gst_rtsp_server_new();
  gst_rtsp_server_set_address(server, "127.0.0.1");
  gst_rtsp_server_set_service(server, arguments[1]);
  GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new();
  gst_rtsp_media_factory_set_launch(factory, arguments[2]);
  gst_rtsp_media_factory_set_shared(factory, TRUE);
  gst_rtsp_mount_points_add_factory(gst_rtsp_server_get_mount_points(server), "/stream", factory);
  if (gst_rtsp_server_attach(server, NULL) == 0) return 1;
  g_main_loop_run(loop);
  return 0;
}
