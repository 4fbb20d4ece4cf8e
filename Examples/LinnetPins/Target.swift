import ExampleSupport
import FoundationEssentials

/// A server or a file on the command line.
enum Target {
    /// A server.
    struct Host: CustomStringConvertible {
        /// The host name or address, without brackets.
        let name: String
        let port: Int

        /// The host and port as in a URL.
        var description: String { name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)" }
    }

    case host(Host)
    case file(String)

    private static let endings = [".pem", ".crt", ".cer", ".der", ".key"]

    /// Parses a target. An existing file, or a text that looks like a file name, is a file.
    init(_ text: String) throws {
        let looksLikeFile = text.contains("/") || Self.endings.contains { text.lowercased().hasSuffix($0) }
        if looksLikeFile && !text.contains("://") || FileManager.default.fileExists(atPath: text) {
            self = .file(text)
            return
        }
        guard let host = Host(text) else {
            throw UsageError(
                "\"\(text)\" is not a valid host; use example.com, example.com:8443 or [2001:db8::1]:8443.")
        }
        self = .host(host)
    }
}

extension Target.Host {
    init?(_ text: String) {
        var (name, port) = (text[...], 443)
        let isBareAddress = !text.hasPrefix("[") && text.count { $0 == ":" } > 1
        if !isBareAddress, let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number) else { return nil }
            (name, port) = (text[..<colon], number)
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        guard !name.isEmpty, !name.contains(where: { "[]/@? #\\".contains($0) }) else { return nil }
        self.init(name: String(name), port: port)
    }
}
