import Foundation
import Glibc
import MQTTMosquitto
import Service
import Synchronization

/// The state of the broker that this program has started.
struct SpawnedBroker: Equatable {
  var isRunning: Bool
  var starts: Int64
  var lastFailure: String?

  /// Returns the broker's state, corrected by the first client's status. A broker that runs but does not accept the account that this program has
  /// written for it is of no use, although it is not missing.
  func asTold(by client: MQTTStatus) -> SpawnedBroker {
    guard isRunning, !client.isConnected, client.isAccountRefused else { return self }
    var told = self
    told.lastFailure =
      "mosquitto runs, but does not accept the user and the password as this program has written them for it"
    return told
  }
}

/// A connection for commands and their answers alone, so that a stop does not wait behind other messages to this device in the broker's queue, in the
/// socket or on the client's thread.
struct CommandConnection: Sendable {
  let subscribe: @Sendable (String) -> Void
  let publish: @Sendable (MQTTMessage) -> MQTTRefusal?
  let status: @Sendable () -> MQTTStatus
}

/// The MQTT client and the broker that it may have started, in builds with and without MQTT. A build without MQTT
/// refuses a configuration that needs them.
package struct BrokerConnection: Sendable {
  let start: @Sendable () -> Void
  /// Stops the client and the broker within some milliseconds, at most 2 s; see `MQTTClient.stop`.
  let stop: @Sendable () -> Void
  let subscribe: @Sendable (String) -> Void
  let unsubscribe: @Sendable (String) -> Void
  let publish: @Sendable (MQTTMessage) -> MQTTRefusal?
  let status: @Sendable () -> MQTTStatus
  /// The separate connection for commands, or `nil` if commands are not accepted or arrive on the main connection.
  let commands: CommandConnection?
  /// Returns the state of the broker that this program starts, or `nil` if it starts none.
  let spawned: @Sendable () -> SpawnedBroker?
}

extension BrokerConnection {
  /// Makes a simulated connection, without the settings and the clients of the real one: commands come over the only one.
  package init(
    stop: @escaping @Sendable () -> Void, subscribe: @escaping @Sendable (String) -> Void,
    unsubscribe: @escaping @Sendable (String) -> Void, publish: @escaping @Sendable (MQTTMessage) -> MQTTRefusal?,
    status: @escaping @Sendable () -> MQTTStatus
  ) {
    self.init(
      start: {}, stop: stop, subscribe: subscribe, unsubscribe: unsubscribe, publish: publish, status: status,
      commands: nil, spawned: { nil })
  }

  #if MQTT
    /// Starts the broker if the configuration asks for that. The client does not connect before `start`.
    ///
    /// - Parameter deliver: called with each message, on the thread of its client.
    /// - Throws: `MQTTError`. A broker that cannot be started is not an error; it is logged and reported by `spawned`.
    init(
      _ mqtt: Configuration.MQTT, environment: [String: String], portOwners: PortOwners,
      deliver: @escaping @Sendable (MQTTMessage) -> Void
    ) throws {
      var settings = mqtt.settings
      if mqtt.broker == .spawn, settings.user == nil {
        // No other program needs the password, which is a new one at each start.
        settings.user = "tactus"
        settings.password = Self.secret
      }
      var broker: MosquittoBroker?
      var failure: String?
      if mqtt.broker == .spawn {
        do {
          broker = try MosquittoBroker(
            port: mqtt.port, folder: try Self.folder(port: mqtt.port, environment: environment),
            launcher: DaemonProgram.path, user: settings.user ?? "", password: settings.password ?? ""
          ) { Self.owner(of: mqtt.port, atStart: portOwners) }
          settings.localSocket = broker?.localSocket
        } catch {
          failure = "\(error)"
        }
      }
      let client = try MQTTClient(settings, deliver: deliver)
      var commandClient: MQTTClient?
      if mqtt.takesCommands {
        var own = settings
        own.clientID += "-commands"
        // The other connection reports whether the device is online.
        own.will = nil
        commandClient = try MQTTClient(own, deliver: deliver)
      }
      let isSpawn = mqtt.broker == .spawn
      // If our broker could not be started, a program that listens on its port is not ours.
      let hasBroker = failure == nil
      start = { [commandClient] in
        guard hasBroker else { return }
        client.start()
        commandClient?.start()
      }
      stop = { [broker, commandClient] in
        commandClient?.stop()
        client.stop()
        broker?.stop()
      }
      subscribe = { client.subscribe($0) }
      unsubscribe = { client.unsubscribe($0) }
      publish = { client.publish($0) }
      status = { client.status }
      commands = commandClient.map { client in
        CommandConnection(
          subscribe: { client.subscribe($0) }, publish: { client.publish($0) }, status: { client.status })
      }
      spawned = { [broker, failure] in
        guard isSpawn else { return nil }
        guard let status = broker?.status else {
          return SpawnedBroker(isRunning: false, starts: 0, lastFailure: failure)
        }
        return SpawnedBroker(isRunning: status.isRunning, starts: status.starts, lastFailure: status.lastFailure)
          .asTold(by: client.status)
      }
    }

    /// Returns the process that has the broker's port, in words, or `nil` if the port is free. A confined program sees
    /// only processes of its account, so the owner found before the start is used if there was one.
    private static func owner(of port: UInt16, atStart: PortOwners) -> String? {
      let now = PortOwners(of: [.tcp(port)])
      guard now[.tcp(port)] != nil else { return nil }
      return (atStart[.tcp(port)] == nil ? now : atStart).sentence("mqtt.port", .tcp(port))
    }

    /// A secret of 128 random bits as hexadecimal digits.
    private static var secret: String {
      (0..<2).map { _ in
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }

    /// Returns the broker's folder beside the standard token file. Each port has its own folder, because two daemons may share a home directory.
    static func folder(port: UInt16, environment: [String: String]) throws -> String {
      let folder = Configuration.stateFolder(environment: environment) + "/mosquitto-\(port)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return folder
    }
  #else
    init(
      _ mqtt: Configuration.MQTT, environment: [String: String], portOwners: PortOwners,
      deliver: @escaping @Sendable (MQTTMessage) -> Void
    ) throws {
      preconditionFailure("the configuration let through a broker that this program cannot speak to")
    }
  #endif
}

/// The user and password of a broker that this program starts, in a file that mosquitto_pub reads. With that file the
/// command line printed after the start works when it is pasted, and shows no password in the list of processes.
enum BrokerLogin {
  /// Writes the file into the broker's folder, readable by this user only.
  ///
  /// - Returns: the folder, which is mosquitto_pub's `XDG_CONFIG_HOME`, or `nil` if this program does not start the
  ///   broker, if the broker needs no user, or if the file cannot be written.
  static func leave(_ mqtt: Configuration.MQTT, environment: [String: String]) -> String? {
    #if MQTT
      guard mqtt.broker == .spawn, let user = mqtt.user, let password = mqtt.password,
        let folder = try? BrokerConnection.folder(port: mqtt.port, environment: environment)
      else { return nil }
      let path = folder + "/mosquitto_pub"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      let bytes = Array("-u \(user)\n-P \(password)\n".utf8)
      // An existing file would keep its mode.
      guard fchmod(descriptor, 0o600) == 0, write(descriptor, bytes, bytes.count) == bytes.count else { return nil }
      return folder
    #else
      return nil
    #endif
  }
}
