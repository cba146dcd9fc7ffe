#if MQTT
  import Foundation
  import MQTTMosquitto
  import TestSupport

  /// Debian's broker and its tools, for tests.
  public enum Mosquitto {
    public static let isInstalled = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto_pub", "/usr/bin/mosquitto_sub"]
      .allSatisfy(FileManager.default.isExecutableFile(atPath:))

    /// The first of these that has paho-mqtt: Debian's package is for Debian's own.
    public static let pahoPython: String? = {
      guard isInstalled else { return nil }
      return ["/usr/bin/python3", "/usr/local/bin/python3"].first { python in
        FileManager.default.isExecutableFile(atPath: python)
          && (try? run(python, ["-c", "import paho.mqtt.client"]).status) == 0
      }
    }()

    public static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
      let process = Process()
      process.executableURL = URL(filePath: path)
      process.arguments = arguments
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let data = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    public static func publish(_ text: String, to topic: String, port: UInt16) throws {
      let result = try run("/usr/bin/mosquitto_pub", ["-p", "\(port)", "-t", topic, "-m", text])
      if result.status != 0 { throw Failure(text: result.output) }
    }

    public struct Failure: Error { public var text: String }
  }

  /// A broker on a port of its own with the lines of a test.
  public final class TestBroker {
    public let reserved = ReservedPort()
    public let folder: URL
    private var process: Process?
    public var port: UInt16 { reserved.number }

    private static let openToAll = """
      listener PORT 127.0.0.1
      allow_anonymous true
      persistence false
      set_tcp_nodelay true
      max_queued_messages 1000
      message_size_limit 65536
      log_dest none
      """

    public init(_ lines: String? = nil, files: [String: String] = [:]) throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in files { try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8) }
      let text = (lines ?? Self.openToAll) + "\nuser root\n"
      try text.replacing("PORT", with: "\(port)").replacing("FOLDER", with: folder.path)
        .write(to: folder.appending(path: "broker.conf"), atomically: true, encoding: .utf8)
    }

    deinit {
      stop()
      try? FileManager.default.removeItem(at: folder)
    }

    public func start() throws {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/sbin/mosquitto")
      process.arguments = ["-c", folder.appending(path: "broker.conf").path]
      process.standardError = FileHandle.nullDevice
      try process.run()
      self.process = process
    }

    public func stop() {
      guard let process else { return }
      // A child inherits the signals that the test's thread blocks, SIGTERM among them.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      self.process = nil
    }

    /// A broker with TLS whose certificate the authority in `folder`/ca.pem has signed, for localhost.
    public static func withTLS() throws -> TestBroker {
      let broker = try TestBroker(
        """
        listener PORT 127.0.0.1
        allow_anonymous true
        cafile FOLDER/ca.pem
        certfile FOLDER/server.pem
        keyfile FOLDER/server.key
        log_dest none
        """)
      let script = """
        set -e; cd '\(broker.folder.path)'
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-authority 2>/dev/null
        openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost 2>/dev/null
        printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' > names
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names 2>/dev/null
        """
      guard try Mosquitto.run("/bin/sh", ["-c", script]).status == 0 else {
        throw Mosquitto.Failure(text: "openssl makes no certificates")
      }
      return broker
    }

    /// A broker that lets in who knows this password.
    public static func withPassword(user: String, _ password: String) throws -> TestBroker {
      let broker = try TestBroker(
        "listener PORT 127.0.0.1\nallow_anonymous false\npassword_file FOLDER/users\nlog_dest none")
      let made = try Mosquitto.run(
        "/usr/bin/mosquitto_passwd", ["-b", "-c", broker.folder.appending(path: "users").path, user, password])
      guard made.status == 0 else { throw Mosquitto.Failure(text: made.output) }
      return broker
    }

    public func settings(_ clientID: String = "tactus") -> MQTTSettings {
      var settings = MQTTSettings(clientID: clientID)
      settings.port = port
      settings.shortestDelay = .milliseconds(20)
      settings.longestDelay = .milliseconds(100)
      return settings
    }
  }
#endif
