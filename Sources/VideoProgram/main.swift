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

  /// What runs out of memory here is replaced; the daemon, whose protection is inherited, is not.
  static func offerToOutOfMemory(_ score: String) {
    let descriptor = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = write(descriptor, score, score.utf8.count)
    close(descriptor)
  }

  /// Becomes the program that is named, with descriptor 3 as its standard input and output, and ends with the thread that has started
  /// it. Behind encoder and viewers: what is found in a picture may come later, the picture may not.
  static func become(_ command: [String]) -> Int32 {
    daemon_die_with_parent()
    _ = nice(10)
    offerToOutOfMemory("600")
    dup2(3, 0)
    dup2(3, 1)
    close(3)
    let arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execvp(command[0], arguments)
    let reason = String(cString: strerror(errno))
    let words = Array("failed \(command[0]) cannot be started: \(reason)\n".utf8)
    _ = write(1, words, words.count)
    return 127
  }

  static func run(_ arguments: [String]) -> Int32 {
    #if Video
      switch arguments {
      case ["cameras"]: return CameraList.printAll()
      case ["serve", "--descriptor", "3"]:
        // Whatever happens to the daemon: no camera stays open that nobody watches over.
        daemon_die_with_parent()
        offerToOutOfMemory("300")
        VideoProcess.run(descriptor: 3)
      case let words where words.first == "detector" && words.count > 1: return become(Array(words.dropFirst()))
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
