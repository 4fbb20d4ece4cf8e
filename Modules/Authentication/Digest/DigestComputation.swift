/// The hashes of one request and its response (RFC 7616, sections 3.4.1 and 3.5).
struct DigestComputation: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    let protection: DigestChallenge.Protection
    /// `H(A1)`.
    let secret: String
    let nonce: String
    /// Eight hexadecimal digits.
    let count: String
    let clientNonce: String
    let uri: String

    /// The value of the response parameter.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - bodyHash: The hash of the request's body, for auth-int.
    func response(method: String, bodyHash: String?) -> String {
        proof("\(method):\(uri)" + (protection == .authInt ? ":" + (bodyHash ?? algorithm.hash("")) : ""))
    }

    /// The value of the rspauth parameter that a server sends that knows the password; for auth and legacy only, since that of
    /// auth-int depends on the response's body.
    var serverProof: String { proof(":" + uri) }

    private func proof(_ a2: String) -> String {
        let hash = algorithm.hash(a2)
        return switch protection {
        case .legacy: algorithm.hash("\(secret):\(nonce):\(hash)")
        case .auth, .authInt:
            algorithm.hash("\(secret):\(nonce):\(count):\(clientNonce):\(protection.rawValue):\(hash)")
        }
    }
}
