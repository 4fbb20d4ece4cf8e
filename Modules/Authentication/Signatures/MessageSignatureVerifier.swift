package import FoundationEssentials
internal import HTTPTypes

/// Verifies signatures of messages (RFC 9421, section 3.2), for tests of what is sent.
package struct MessageSignatureVerifier: Sendable {
    /// A signature that is right.
    package struct Result: Sendable {
        /// The identifiers of what it covers.
        package let components: [String]
        /// The text that was signed.
        package let base: String
    }

    private let key: SignatureKey

    package init(_ key: SignatureKey) { self.key = key }

    /// - Parameters:
    ///   - label: The name of the signature in its fields.
    ///   - message: The message.
    ///   - time: The time, for signatures that expire; nil ignores it.
    /// - Throws: ``AuthenticationError/Code/wrongSignature`` or ``AuthenticationError/Code/missingComponent``.
    @discardableResult
    package func verify(
        _ label: String, of message: SignableMessage, at time: Date? = nil
    ) throws(AuthenticationError) -> Result {
        guard case .list(let input)? = member(label, of: .signatureInput, message),
            case .item(let item)? = member(label, of: .signature, message), case .bytes(let signature) = item.value
        else { throw .wrong("The message has no signature with the label \(label).") }
        let components = input.items.compactMap { SignatureComponent($0) }
        guard components.count == input.items.count, Set(components).count == components.count else {
            throw .wrong("The signature covers a component twice, or one without a name.")
        }
        try checkTime(input.parameters, time)
        try checkAlgorithm(input.parameters)
        let base = try SignatureBase(of: message, covering: components, input)
        guard key.handle.verify(signature, of: base.bytes, key.algorithm) else {
            throw .wrong("The signature does not match the message.")
        }
        return Result(components: components.map(\.description), base: String(decoding: base.bytes, as: UTF8.self))
    }

    private func member(
        _ label: String, of name: HTTPField.Name, _ message: SignableMessage
    ) -> StructuredField.Member? {
        let value = message.fields[values: name].joined(separator: ", ")
        return StructuredFieldParser.dictionary(value)?.member(label)
    }

    private func checkTime(_ parameters: [StructuredField.Parameter], _ time: Date?) throws(AuthenticationError) {
        guard let time, case .integer(let seconds)? = parameters.first(where: { $0.key == "expires" })?.value else {
            return
        }
        guard time.timeIntervalSince1970 <= Double(seconds) else { throw .wrong("The signature has expired.") }
    }

    private func checkAlgorithm(_ parameters: [StructuredField.Parameter]) throws(AuthenticationError) {
        guard let algorithm = parameters.first(where: { $0.key == "alg" })?.value else { return }
        guard algorithm == .string(key.algorithm.description) else {
            throw .wrong("The signature is of another algorithm than its key.")
        }
    }
}

extension AuthenticationError {
    fileprivate static func wrong(_ message: String) -> AuthenticationError {
        AuthenticationError(.wrongSignature, message)
    }
}
