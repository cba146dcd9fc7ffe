import TactusDaemon

/// A configuration from text, as of a file `c.yaml`.
package func read(_ text: String, environment: [String: String] = [:]) throws(ConfigErrors) -> Configuration {
  let file: YAMLFile
  do {
    file = try YAMLFile(text: text, name: "c.yaml")
  } catch {
    throw error as! ConfigErrors
  }
  return try Configuration.read(file, environment: environment)
}

/// What is wrong with it, a line each.
package func errors(_ text: String, environment: [String: String] = [:]) -> [String] {
  do {
    _ = try read(text, environment: environment)
    return []
  } catch {
    return error.errors.map(\.description)
  }
}
