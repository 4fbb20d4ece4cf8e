/// The hashes of one request and its response (RFC 7616, sections 3.4.1 and 3.5).
struct DigestComputation: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    let protection: DigestChallenge.Protection
    /// `H(A1)`.
    let secret: String
    let nonce: String
    /// The nonce count as eight hexadecimal digits.
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

    /// The value of the rspauth parameter of a server that knows the password; only for auth and legacy, since auth-int
    /// includes the response's body.
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
