/// Why a bench could not open something, with the key of the file that names it: `kiln.heater: GPIO line GPIO17: no chip has a line of that name`.
struct BenchError: Error, CustomStringConvertible {
  let key: String
  let reason: String

  var description: String { "\(key): \(reason)" }
}
