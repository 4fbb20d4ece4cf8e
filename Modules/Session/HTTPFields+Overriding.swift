internal import HTTPTypes

extension HTTPFields {
    /// Replaces the fields of the same names by these fields.
    mutating func override(with fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        guard !isEmpty else {
            self = fields
            return
        }
        for field in fields { self[values: field.name] = [] }
        for field in fields { append(field) }
    }
}
