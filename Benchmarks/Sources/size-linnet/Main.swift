import FoundationEssentials
import Linnet

/// One pinned GET: size-linnet URL PIN CA.pem
@main
struct Main {
    static func main() async throws {
        let words = CommandLine.arguments
        let policy = try SecurityPolicy.publicKeyPins([PublicKeyPin(words[2])], anchors: .file(words[3]))
        let http = try HTTPSession(baseURL: URL(string: words[1])) { $0.securityPolicy = policy }
        let response = try await http.get("1k").response()
        print(response.status.code, response.value.count)
    }
}
