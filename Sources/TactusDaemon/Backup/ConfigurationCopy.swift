import Service

/// The configuration file as a backup holds it: its text with comments and order, without the secrets that stand in it.
///
/// In the place of a secret stands a `${NAME}`, with which no program starts before somebody has given the value. In the
/// place of a comment such as `# token: abc`, or beside a secret, which may hold an old one, stands a note.
struct ConfigurationCopy {
  let taken: TakenFile
  let text: String
  /// The things that the program needs and a backup does not hold, and the comments that were left out, a line for
  /// each.
  let notInBackup: [String]

  /// Reads the file as it is on the disk now. The values of environment variables are not needed.
  ///
  /// - Throws: `ConfigErrors` for a file that a start would refuse, or for a secret that cannot be taken out of its text or comments.
  init(of path: String, environment: [String: String]) throws(ConfigErrors) {
    var text: String
    do throws(FileFailure) {
      text = try YAMLFile.read(path, atMost: YAMLLimits.bytes)
    } catch {
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: "cannot be read: \(error.reason)")])
    }
    taken = try Configuration.readText(text, of: path, environment: environment).taken
    for key in taken.keysOfSecrets {
      do throws(ConfigEdit.Refusal) {
        text = try ConfigEdit.setting(key, toVariable: TakenFile.variable(of: key), in: text)
      } catch {
        let message =
          "expected a secret on one line, which a backup can leave out, or one in a file of its own or of the environment, got another"
        throw ConfigErrors(errors: [ConfigError(file: path, line: error.line, key: key, message: message)])
      }
    }
    let comments: SecretComments
    do throws(SecretComments.Failure) { comments = try SecretComments(leftOutOf: text) } catch {
      let message = "expected comments that can be told from values, as a backup leaves old secrets out, got others"
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: message)])
    }
    self.text = comments.text
    notInBackup = taken.notInBackup + comments.leftOut
  }
}

extension TakenFile {
  /// The keys whose values are secrets and stand in the file itself, in the order of their names.
  var keysOfSecrets: [String] {
    found.values.keys.filter { key in
      guard !found.hidden.contains(key), case .text(let text)? = found.values[key], !text.isEmpty else { return false }
      return Self.isSecret(key) || configuration.secrets.contains(text)
    }.sorted()
  }

  /// The files that the file names and the program does not make, by their keys: certificates, files with a secret in them, labels.
  var namedFiles: [(key: String, path: String)] {
    found.values.keys.sorted().compactMap { key in
      guard Self.namesFile(key), case .text(let path)? = found.values[key], !path.isEmpty else { return nil }
      return (key, path)
    }
  }

  /// The things that the program needs and a backup does not hold, a line for each: secrets, and files that the file
  /// names.
  var notInBackup: [String] {
    var lines = keysOfSecrets.map { "\($0): a secret in the file; ${\(Self.variable(of: $0))} stands in its place" }
    lines += found.hidden.sorted().map { "\($0): from the environment" }
    lines += namedFiles.filter { !found.hidden.contains($0.key) }.map { "\($0.key): the file \($0.path)" }
    if configuration.service?.tls == .selfSigned {
      lines.append("service.tls: the self-signed certificate; another one is made, and every device asks about it once")
    }
    return lines
  }

  /// The environment variable that stands in a backup in the place of a secret: of `mqtt.password` it is `MQTT_PASSWORD`.
  static func variable(of key: String) -> String {
    let words = key.uppercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return words.joined(separator: "_")
  }

  /// Returns whether the value of a key is the path of a file that the program does not make.
  static func namesFile(_ key: String) -> Bool {
    [.file, .secretFile].contains(ConfigTable.key(key)?.kind)
  }
}
