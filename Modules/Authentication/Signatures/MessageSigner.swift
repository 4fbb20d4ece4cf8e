internal import COpenSSL
package import FoundationEssentials
package import HTTPTypes

/// Signs messages by RFC 9421: which components, with which key.
///
/// ```swift
/// let key = try SignatureKey(privateKey: Data(contentsOf: URL(filePath: "/etc/finch/key.pem")))
/// let signer = try MessageSigner(key, covering: [.method, .targetURI, .contentDigest], keyID: "finch-1")
/// ```
/// A session of LinnetSession signs its requests with it (`RequestSigner.messageSignature(_:for:)`).
public struct MessageSigner: Sendable {
    /// The key.
    public let key: SignatureKey
    /// The parts of a request that the signature covers, in this order.
    public let components: [SignatureComponent]
    /// The name of the signature in its fields.
    public let label: String
    /// The algorithm of the Content-Digest that is added to a request without one, if it is covered.
    public let digestAlgorithm: ContentDigest.Algorithm

    private let keyID: String?
    private let tag: String?
    private let lifetime: Duration?
    private let hasAlgorithm: Bool
    private let hasNonce: Bool
    /// The present time, for `created`.
    package var now: @Sendable () -> Date = { Date() }
    /// Makes the value of `nonce`.
    package var makeNonce: @Sendable () -> String = { Self.randomNonce() }

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - components: The parts of a request that the signature covers, in this order. Beside the method and the URL,
    ///     cover ``SignatureComponent/contentDigest`` for the body. A request without one of them is not signed, and
    ///     fails.
    ///   - keyID: The name by which the server knows the key. The default is none.
    ///   - label: The name of the signature in its fields. The default is `sig1`.
    ///   - tag: The application of the signature, for servers that ask for one. The default is none.
    ///   - lifetime: How long the signature is valid, in whole seconds; the server's clock may differ. The default is
    ///     nil: the server decides by the time of creation, which every signature has.
    ///   - hasAlgorithm: Whether the signature names its algorithm. The default is false: the server knows it by the
    ///     key.
    ///   - hasNonce: Whether each signature has a random value, by which the server refuses a copy. The default is
    ///     false.
    ///   - digestAlgorithm: The algorithm of an added Content-Digest. The default is SHA-256.
    /// - Throws: ``AuthenticationError/Code/invalidSigner`` if a component occurs twice, the label is not a key of a
    ///   structured field, the name of the key or the tag is not ASCII, or the lifetime is less than a second.
    public init(
        _ key: SignatureKey, covering components: [SignatureComponent], keyID: String? = nil, label: String = "sig1",
        tag: String? = nil, lifetime: Duration? = nil, hasAlgorithm: Bool = false, hasNonce: Bool = false,
        digestAlgorithm: ContentDigest.Algorithm = .sha256
    ) throws(AuthenticationError) {
        (self.key, self.components, self.label, self.digestAlgorithm) = (key, components, label, digestAlgorithm)
        (self.keyID, self.tag, self.lifetime) = (keyID, tag, lifetime)
        (self.hasAlgorithm, self.hasNonce) = (hasAlgorithm, hasNonce)
        try check()
    }

    private func check() throws(AuthenticationError) {
        guard StructuredField.isKey(label) else {
            throw AuthenticationError(
                .invalidSigner, "The label of the signature is not lower-case letters, digits, '_', '-', '.' and '*'.")
        }
        guard [keyID, tag].allSatisfy({ $0.map(StructuredField.isString) ?? true }) else {
            throw AuthenticationError(.invalidSigner, "The name of the key and the tag must be printable ASCII.")
        }
        guard lifetime.map({ 1...Int64(Int32.max) ~= $0.components.seconds }) ?? true else {
            throw AuthenticationError(
                .invalidSigner, "The lifetime of the signature is less than a second, or decades.")
        }
        guard components.count == Set(components).count else {
            throw AuthenticationError(.invalidSigner, "The signature covers a component twice.")
        }
        // The server looks for the identifier, which must be a valid string.
        guard components.allSatisfy({ $0.parameters.allSatisfy(\.isValid) }) else {
            throw AuthenticationError(.invalidSigner, "A member of a covered dictionary has a name that is not ASCII.")
        }
    }

    /// Whether a message needs a Content-Digest before it can be signed.
    package func needsContentDigest(_ fields: HTTPFields) -> Bool {
        !fields.contains(.contentDigest) && components.contains { $0.name == SignatureComponent.contentDigest.name }
    }

    /// Adds the signature to a message.
    ///
    /// - Throws: ``AuthenticationError/Code/missingComponent``.
    package func sign(_ message: inout SignableMessage) throws(AuthenticationError) {
        let input = StructuredField.InnerList(items: components.map(\.item), parameters: parameters)
        let base = try SignatureBase(of: message, covering: components, input)
        let signature = Array(try key.signature(of: Data(base.bytes)))
        message.fields.append(HTTPField(name: .signatureInput, value: "\(label)=\(input.text)"))
        message.fields.append(
            HTTPField(name: .signature, value: "\(label)=\(StructuredField.BareItem.bytes(signature).text)"))
    }

    private var parameters: [StructuredField.Parameter] {
        let created = Int64(now().timeIntervalSince1970)
        var parameters = [StructuredField.Parameter(key: "created", value: .integer(created))]
        if let lifetime {
            parameters.append(.init(key: "expires", value: .integer(created + lifetime.components.seconds)))
        }
        if let keyID { parameters.append(.init(key: "keyid", value: .string(keyID))) }
        if hasAlgorithm { parameters.append(.init(key: "alg", value: .string(key.algorithm.description))) }
        if hasNonce { parameters.append(.init(key: "nonce", value: .string(makeNonce()))) }
        if let tag { parameters.append(.init(key: "tag", value: .string(tag))) }
        return parameters
    }

    /// 128 random bits in hexadecimal.
    private static func randomNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}

extension StructuredField.Parameter {
    fileprivate var isValid: Bool {
        guard case .string(let text) = value else { return true }
        return key == "key" ? StructuredField.isKey(text) : StructuredField.isString(text)
    }
}
