import ExampleSupport
import FoundationEssentials

/// A server or a file on the command line.
enum Target {
    case host(HostAndPort)
    case file(String)

    private static let endings = [".pem", ".crt", ".cer", ".der", ".key"]

    /// Parses a target. An existing file, or a text that looks like a file name, is a file.
    init(_ text: String) throws {
        let looksLikeFile = text.contains("/") || Self.endings.contains { text.lowercased().hasSuffix($0) }
        if looksLikeFile && !text.contains("://") || FileManager.default.fileExists(atPath: text) {
            self = .file(text)
            return
        }
        guard let host = HostAndPort(text) else {
            throw UsageError(
                "\"\(text)\" is not a valid host; use example.com, example.com:8443 or [2001:db8::1]:8443.")
        }
        self = .host(host)
    }
}
