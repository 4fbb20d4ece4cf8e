internal import HTTPTypes

extension HTTPFields {
    /// Puts fields in the place of those with the same name.
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
