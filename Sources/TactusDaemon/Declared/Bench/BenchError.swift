/// The error for a part that a bench could not open, with the key that names the part:
/// `kiln.heater: GPIO line GPIO17: no chip has a line of that name`.
struct BenchError: Error, CustomStringConvertible {
  let key: String
  let cause: any Error

  var description: String { "\(key): \(cause)" }
}
