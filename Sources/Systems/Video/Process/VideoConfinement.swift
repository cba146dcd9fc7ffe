#if Video
  import CDaemon
  import CProcess
  import Confinement
  import Glibc
  import Video

  /// The permissions of the video process and of the processes that it starts.
  enum VideoConfinement {
    /// Devices of cameras, of the image processors and codecs of small computers, of graphics for encoders, and of the memory that they
    /// share.
    private static let cameras = [
      "/dev/video*", "/dev/media*", "/dev/v4l-subdev*", "/dev/dma_heap", "/dev/dri", "/dev/udmabuf", "/dev/vchiq",
      "/dev/vcsm-cma", "/dev/mpp_service", "/dev/rga",
    ]
    /// Devices of accelerators for detectors.
    private static let accelerators = [
      "/dev/dri", "/dev/apex_*", "/dev/hailo*", "/dev/bus/usb", "/dev/kfd", "/dev/nvidia*", "/dev/accel", "/dev/vchiq",
    ]

    /// The limit of this process's private memory. 40 viewers of 1280 × 720 took 153 MB, of which 104 MB were 13 threads' stacks of 8 MB
    /// each; one request that announced a body of 2 GB took all of that, before its length was limited.
    private static let memoryMebibytes: UInt32 = 1024
    /// The memory limit of a detector that the configuration adds; models in Python take gigabytes.
    private static let detectorMebibytes: UInt32 = 4096

    /// Confines this process, which must not have another thread yet. Returns what the kernel does not support, or `nil` if the
    /// confinement is complete.
    static func apply(_ settings: VideoSettings) -> String? {
      process_offer_to_out_of_memory(300)
      var needs = Confinement([.network, .programs], descriptors: 4096, memoryMebibytes: memoryMebibytes)
      // Every connection to the RTSP port has a thread, and a session of WebRTC has several.
      needs.stackKibibytes = 1024
      needs.accounts = ["tactus-video", "nobody"]
      needs.groups = ["video", "render"]
      needs.devices = cameras + (settings.detector.command.isEmpty ? [] : accelerators)
      needs.readable = pluginFolders + paths(in: settings.pipeline) + folders(of: settings.detector.command)
      if needs.leavesRoot {
        // GStreamer's list of its plug-ins, which takes seconds to make: root's own folder is closed to the account.
        setenv("XDG_CACHE_HOME", "/var/cache/tactus-video", 1)
        needs.folder = "/var/cache/tactus-video"
      } else {
        needs.folder = ownFolder
      }
      return needs.apply()
    }

    /// A number that changes when a camera has been connected or disconnected, since a confined process cannot open a new one.
    static var cameraState: UInt { Confinement.state(ofDevices: cameras) }

    /// Confines a detector's process further, without network and cameras. Returns what the kernel does not support, or `nil` if the
    /// confinement is complete.
    static func applyToDetector(_ command: [String]) -> String? {
      var needs = Confinement([.programs], descriptors: 1024, memoryMebibytes: detectorMebibytes)
      needs.devices = accelerators
      needs.readable = folders(of: command)
      return needs.apply()
    }

    /// The folders where users have installed their own plug-ins.
    private static var pluginFolders: [String] {
      let names: [String] = ["GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0"]
      let named = names.compactMap { name in getenv(name).map { String(cString: $0) } }
      let home = getenv("HOME").map { [String(cString: $0) + "/.local/share/gstreamer-1.0"] } ?? []
      return named.flatMap { $0.split(separator: ":").map(String.init) } + home
    }

    private static var ownFolder: String? {
      if let cache = getenv("XDG_CACHE_HOME") { return String(cString: cache) + "/gstreamer-1.0" }
      return getenv("HOME").map { String(cString: $0) + "/.cache/gstreamer-1.0" }
    }

    /// Returns the files that a user's pipeline names, such as `location=/srv/film.mp4`.
    private static func paths(in pipeline: String) -> [String] {
      pipeline.split { " \"'=".contains($0) }.filter { $0.hasPrefix("/") }.map(String.init)
    }

    /// Returns the folders of the files that a command names, so that a program finds the files next to it. For a program in `bin`, this
    /// is the folder above, which has its libraries.
    private static func folders(of command: [String]) -> [String] {
      command.filter { $0.hasPrefix("/") }.map { path in
        let folder = path.prefix(upTo: path.lastIndex(of: "/")!)
        if folder.hasSuffix("/bin") { return String(folder.dropLast(4)) }
        return folder.isEmpty ? path : String(folder)
      }
    }
  }

  /// Replaces this process with a detector's program, which has descriptor 3 as its standard input and output and ends with the thread
  /// that started it. Its priority is below that of encoder and viewers, because a detection may be late but a picture may not. Returns
  /// only if the program could not be started.
  public enum ConfinedDetector {
    public static func run(_ command: [String]) -> Int32 {
      _ = nice(10)
      // The video process has already logged what the kernel lacks.
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
