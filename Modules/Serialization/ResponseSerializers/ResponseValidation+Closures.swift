public import HTTPTypes

extension ResponseValidation {
    /// The validation with a closure that has to accept a response's head as well, after the statuses and the content
    /// types. What it throws refuses the response.
    ///
    /// ```swift
    /// let validation = ResponseValidation().validating { head in
    ///     guard head.headerFields[.eTag] != nil else { throw MissingTag() }
    /// }
    /// ```
    /// The error is then a ``SerializationError`` with ``SerializationError/Code/unacceptableResponse`` and the
    /// response, and the closure's error underlies it; a `SerializationError` is thrown as it is. Further closures are
    /// called in order, until one throws.
    ///
    /// A validation judges streams and downloads too, whose body is still to come; for a closure over a body see
    /// ``ResponseSerializer/validating(_:)``. A validation with a closure is equal to its copies only, and cannot be
    /// encoded: that throws an `EncodingError`.
    public func validating(_ validate: @escaping @Sendable (HTTPResponse) throws -> Void) -> ResponseValidation {
        var validation = self
        validation.check = HeadCheck { [check] head in
            try check?.closure(head)
            try validate(head)
        }
        return validation
    }
}

/// A check of a response's head by closures, equal to itself alone.
final class HeadCheck: Sendable, Hashable {
    let closure: @Sendable (HTTPResponse) throws -> Void

    init(_ closure: @escaping @Sendable (HTTPResponse) throws -> Void) {
        self.closure = closure
    }

    func validate(_ response: SerializedResponse) throws(SerializationError) {
        do {
            try closure(response.head)
        } catch {
            throw SerializationError(refusing: response, because: error)
        }
    }

    static func == (check: HeadCheck, other: HeadCheck) -> Bool { check === other }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension ResponseSerializer {
    /// A serializer that reads the same value, and has a closure accept each response with its body as well. What the
    /// closure throws refuses the response.
    ///
    /// ```swift
    /// let serializer = DecodableResponseSerializer(Order.self).validating { response in
    ///     if let failure = Failure(response.body) { throw failure }
    /// }
    /// let order = try await api.get("order").response(serializer).value
    /// ```
    /// The closure is called once for each response that the serializer's validation accepts, whether or not its body
    /// can be decoded, and its refusal comes before an error of decoding. The error is then a ``SerializationError``
    /// with ``SerializationError/Code/unacceptableResponse`` and the response, and the closure's error underlies it; a
    /// `SerializationError` is thrown as it is. For streams and downloads see ``ResponseValidation/validating(_:)``.
    public func validating(
        _ validate: @escaping @Sendable (SerializedResponse) throws -> Void
    ) -> some ResponseSerializer<Value> {
        ValidatingResponseSerializer(base: self, check: validate)
    }
}

/// Validates by a closure the responses that another serializer's validation accepts.
private struct ValidatingResponseSerializer<Base: ResponseSerializer>: ResponseSerializer {
    let base: Base
    let check: @Sendable (SerializedResponse) throws -> Void

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Base.Value {
        let value: Base.Value
        do {
            value = try base.serialize(response)
        } catch {
            if !error.isRefusal { try validate(response) }
            throw error
        }
        try validate(response)
        return value
    }

    private func validate(_ response: SerializedResponse) throws(SerializationError) {
        do {
            try check(response)
        } catch {
            throw SerializationError(refusing: response, because: error)
        }
    }
}

extension SerializationError {
    /// Whether a validation has refused the response.
    fileprivate var isRefusal: Bool {
        [.unacceptableStatus, .unacceptableContentType, .emptyBody, .unacceptableResponse].contains(code)
    }

    /// The error for a response that a closure refuses.
    fileprivate init(refusing response: SerializedResponse, because error: any Error) {
        if let error = error as? SerializationError {
            self = error
            self.response = error.response ?? response
        } else {
            self.init(
                code: .unacceptableResponse, message: "The validation refuses the response: \(reason(of: error)).",
                underlying: error, response: response)
        }
    }
}
