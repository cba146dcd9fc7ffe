import Buses

/// The error for a list with more or fewer items than a bank of lines can have.
struct BankSizeError: Error, CustomStringConvertible {
  let count: Int

  var description: String { "expected a list of 1…\(GPIOLines.maximumCount) items with a line each, got \(count)" }
}

/// The error for a part that a bench could not open, with the key that names the part:
/// `kiln.heater: GPIO line GPIO17: no chip has a line of that name`.
struct BenchError: Error, CustomStringConvertible {
  let key: String
  let cause: any Error

  var description: String { "\(key): \(cause)" }
}
