import ExampleSupport
import FoundationEssentials

/// Says what is printed and stored.
struct OutputPlan {
    /// The parts of the messages for standard output.
    struct Parts: OptionSet {
        let rawValue: Int

        static let requestHead = Parts(rawValue: 1)
        static let requestBody = Parts(rawValue: 2)
        static let responseHead = Parts(rawValue: 4)
        static let responseBody = Parts(rawValue: 8)

        private static let letters: [Character: Parts] = [
            "H": .requestHead, "B": .requestBody, "h": .responseHead, "b": .responseBody,
        ]

        /// Parses the letters of `--print`.
        init(_ text: String) throws {
            self = []
            for letter in text {
                guard let part = Self.letters[letter] else {
                    throw UsageError("--print has the letters H, B, h and b only.")
                }
                insert(part)
            }
        }

        init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// The way to receive the response.
    enum Way {
        case body
        /// A download that goes on where it ended.
        case resumableDownload
        /// A download that another process performs.
        case backgroundDownload
        case events
        case webSocket
    }

    let way: Way
    let parts: Parts
    /// The file for the body; nil for standard output.
    let file: URL?
    let isVerbose: Bool
    let showsTimings: Bool
    /// The file for the HAR; nil for none.
    let har: URL?
    /// The file for the trace; nil for none.
    let trace: URL?

    init(_ arguments: OutputArguments, url: URL) throws {
        parts = try Self.parts(arguments)
        file = try Self.file(arguments, url)
        way = try Self.way(arguments, hasFile: file != nil)
        isVerbose = arguments.isVerbose
        showsTimings = arguments.timings || ProgramName.isProgram(of: "request")
        har = try arguments.har.map { try Self.output($0, "--har") }
        trace = try arguments.trace.map { try Self.output($0, "--trace") }
    }

    private static func way(_ arguments: OutputArguments, hasFile: Bool) throws -> Way {
        let ways: [(Bool, Way)] = [
            (arguments.continues, .resumableDownload), (arguments.background, .backgroundDownload),
            (arguments.sse, .events), (arguments.ws, .webSocket),
        ]
        let chosen = ways.filter(\.0).map(\.1)
        guard chosen.count < 2 else { throw UsageError("-C, --background, --sse and --ws exclude each other.") }
        guard hasFile || !arguments.continues && !arguments.background else {
            throw UsageError("-C and --background need -o or -O.")
        }
        guard !hasFile || !arguments.sse && !arguments.ws else { throw UsageError("--sse and --ws exclude -o and -O.") }
        return chosen.first ?? .body
    }

    private static func parts(_ arguments: OutputArguments) throws -> Parts {
        if let text = arguments.parts {
            guard !arguments.includesHead, !arguments.isHead else { throw UsageError("--print excludes -i and -I.") }
            return try Parts(text)
        }
        if arguments.isHead { return .responseHead }
        return arguments.includesHead ? [.responseHead, .responseBody] : .responseBody
    }

    private static func file(_ arguments: OutputArguments, _ url: URL) throws -> URL? {
        guard arguments.usesRemoteName else {
            guard let path = arguments.file, path != "-" else { return nil }
            return try output(path, "-o")
        }
        guard arguments.file == nil else { throw UsageError("-o and -O exclude each other.") }
        let name = url.lastPathComponent
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
            throw UsageError("The URL has no file name for -O: specify -o.")
        }
        return URL(filePath: name)
    }

    private static func output(_ path: String, _ option: String) throws -> URL {
        guard !path.isEmpty, !path.hasSuffix("/") else { throw UsageError("\(option) \"\(path)\" is not a file.") }
        return URL(filePath: path)
    }
}
