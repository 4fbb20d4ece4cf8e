import FoundationEssentials
import LinnetTesting

/// Creates an identity, and passes it to a closure with its root as a file for curl.
func withIdentity<Result>(_ use: (TestPKI.Identity, _ rootFile: String) async throws -> Result) async throws -> Result {
    let pki = try TestPKI()
    let file = FileManager.default.temporaryDirectory.appending(path: "linnet-root-\(UUID().uuidString).pem")
    try pki.rootPEM.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await use(pki.identity(), file.path)
}
