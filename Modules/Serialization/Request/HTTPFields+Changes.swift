public import HTTPTypes

extension HTTPFields {
    /// Sets or removes a field, with validation of its name and value.
    ///
    /// HTTPTypes replaces invalid characters with spaces. Here they are an error, so that untrusted values never
    /// change.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the name is not a token, or
    ///   the value contains CR, LF, NUL or other forbidden bytes (RFC 9110, sections 5.1 and 5.5).
    public mutating func set(_ value: String?, forName name: String) throws(SerializationError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "\(name.debugDescription) is not the name of a header field."
            )
        }
        if let value, !HTTPField.isValidValue(value) {
            throw SerializationError(
                code: .invalidHeader,
                message: "The value of the header field \(fieldName) contains a character that is not allowed."
            )
        }
        self[fieldName] = value
    }

    /// Appends the fields whose names are missing.
    package mutating func addMissing(_ fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        guard !isEmpty else {
            self = fields
            return
        }
        // All fields of a missing name are added. The search is linear, since `contains(_:)` builds an index of all
        // fields first.
        let own = indices
        for field in fields where !own.contains(where: { self[$0].name == field.name }) { append(field) }
    }

    /// Replaces the fields of the same names by these fields.
    package mutating func override(with fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        guard !isEmpty else {
            self = fields
            return
        }
        for field in fields { self[values: field.name] = [] }
        for field in fields { append(field) }
    }
}
