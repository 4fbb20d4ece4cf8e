public import HTTPTypes

extension HTTPFields {
    /// Sets a field from texts, or removes it with nil, and refuses what would end up on another line.
    ///
    /// HTTPTypes itself turns forbidden characters into spaces; here they are an error, so that a value which came from
    /// outside never arrives as something else.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` when the name is not a token, or
    ///   the value holds CR, LF, NUL or other forbidden bytes (RFC 9110, sections 5.1 and 5.5).
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
                message: "The value of the header field \(fieldName) holds a character that is not allowed there."
            )
        }
        self[fieldName] = value
    }

    /// Adds the fields whose names are not there yet.
    mutating func addMissing(_ fields: HTTPFields) {
        guard !isEmpty else {
            self = fields
            return
        }
        // One whose name the others have twice is added twice. They are looked at one after the other, since `contains(_:)`
        // makes an index of all fields first.
        let own = indices
        for field in fields where !own.contains(where: { self[$0].name == field.name }) { append(field) }
    }
}
