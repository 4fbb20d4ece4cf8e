internal import HTTPTypes

extension HTTPFields {
    /// Adds the fields whose name is not there yet.
    mutating func addDefaults(_ defaults: HTTPFields) {
        guard !defaults.isEmpty else { return }
        guard !isEmpty else {
            self = defaults
            return
        }
        let own = indices
        for field in defaults where !own.contains(where: { self[$0].name == field.name }) { append(field) }
    }

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
