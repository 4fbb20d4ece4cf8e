import ExampleSupport
import FoundationEssentials
import Linnet

/// The address of the server, where the command line knows it better than the name service.
enum ResolutionPlan {
    static func resolution(
        _ arguments: ConnectionArguments, url: URL
    ) throws -> TransportConfiguration.Resolution {
        var options = TransportConfiguration.Resolution()
        for text in arguments.resolutions {
            let (host, port, address) = try parts(text)
            if port == Origin(url.absoluteString)?.port { options.hostOverrides[host, default: []].append(address) }
        }
        guard let path = arguments.unixSocket, let origin = Origin(url.absoluteString) else { return options }
        guard arguments.proxy == nil else {
            throw UsageError("--unix-socket and --proxy exclude each other.")
        }
        options.unixSockets = [origin.host: path]
        return options
    }

    /// Whether the URL's host is this machine by its name.
    static func isThisMachine(_ url: URL) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(Origin(url.absoluteString)?.host)
    }

    /// Parses `host:port:address`; the address may have brackets.
    private static func parts(_ text: String) throws -> (host: String, port: Int, address: String) {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3, let port = Int(parts[1]), (1...65535).contains(port) else {
            throw UsageError("--resolve \"\(text)\" is not of the form host:port:address.")
        }
        return (parts[0].lowercased(), port, parts[2].filter { $0 != "[" && $0 != "]" })
    }
}
