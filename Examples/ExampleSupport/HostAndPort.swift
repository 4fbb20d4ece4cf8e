/// A server on the command line.
package struct HostAndPort: Sendable, CustomStringConvertible {
    /// The host name or address, without brackets.
    package let name: String
    /// The port, from 1 to 65535.
    package let port: Int

    /// The host and port as in a URL.
    package var description: String { name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)" }

    /// Parses `example.com`, `example.com:8443`, `2001:db8::1` or `[2001:db8::1]:8443`. The default port is 443.
    package init?(_ text: String) {
        var (name, port) = (text[...], 443)
        let isBareAddress = !text.hasPrefix("[") && text.count { $0 == ":" } > 1
        if !isBareAddress, let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number) else { return nil }
            (name, port) = (text[..<colon], number)
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        guard !name.isEmpty, !name.contains(where: { "[]/@? #\\".contains($0) }) else { return nil }
        (self.name, self.port) = (String(name), port)
    }
}
