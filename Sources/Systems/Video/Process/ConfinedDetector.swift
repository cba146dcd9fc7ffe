#if Video
  import CDaemon
  import Glibc

  /// Replaces this process with a detector's program, which has descriptor 3 as its standard input and output and ends with the thread
  /// that started it. Its priority is below that of encoder and viewers, because a detection may be late but a picture may not. Returns
  /// only if the program could not be started.
  public enum ConfinedDetector {
    public static func run(_ command: [String]) -> Int32 {
      _ = nice(10)
      // What the kernel lacks the video process has said.
      _ = VideoConfinement.applyToDetector(command)
      daemon_die_with_parent()
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
  }
#endif
