import Glibc

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
      // A file that was there keeps its mode.
      guard fchmod(descriptor, 0o600) == 0, write(descriptor, bytes, bytes.count) == bytes.count else { return nil }
      return folder
    #else
      return nil
    #endif
  }
}
