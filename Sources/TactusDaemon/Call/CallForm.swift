import Wire

/// One of the forms that the body of a command may have.
struct CallForm {
  /// What this form is for, or `nil` if the document does not say.
  let summary: String?
  /// The required ones first.
  let fields: [CallParameter]

  /// How badly these members fit, as numbers to be compared one after the other: members with another value than the form has, members that it
  /// does not have, members that are missing.
  private func misfit(_ members: [JSONValue.Member]) -> [Int] {
    let known = members.compactMap { member in fields.first { $0.name == member.name }.map { ($0, member.value) } }
    let wrong = known.count { field, value in value.string.map { !field.allows($0) } ?? false }
    let missing = fields.count { field in field.isRequired && !members.contains { $0.name == field.name } }
    return [wrong, members.count - known.count, missing]
  }

  /// Returns the form that is meant by these members.
  static func meant(by members: [JSONValue.Member], of forms: [CallForm]) -> CallForm {
    forms.min { $0.misfit(members).lexicographicallyPrecedes($1.misfit(members)) } ?? CallForm(summary: nil, fields: [])
  }
}
