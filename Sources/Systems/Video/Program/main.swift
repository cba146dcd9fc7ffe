import CDaemon
import Glibc

#if Video
  import VideoGStreamer
#endif

// Started by `tactus run` with a socket as descriptor 3; `tactus-video cameras` is for `tactus doctor`, and for people.
enum Program {
  static func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(2, bytes, bytes.count)
  }

  static func run(_ arguments: [String]) -> Int32 {
    #if Video
      switch arguments {
      case ["cameras"]: return CameraList.printAll()
      case ["serve", "--descriptor", "3"]:
        daemon_die_with_parent()
        VideoProcess.run(descriptor: 3)
      case let words where words.first == "detector" && words.count > 1:
        return ConfinedDetector.run(Array(words.dropFirst()))
      default:
        complain("usage: tactus-video cameras; everything else is between it and tactus, which starts it")
        return 64
      }
    #else
      complain("this build has no video: it was made without the trait Video")
      return 1
    #endif
  }
}

exit(Program.run(Array(CommandLine.arguments.dropFirst())))
