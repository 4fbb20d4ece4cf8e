internal import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The user's base directories (XDG Base Directory Specification).
package struct BaseDirectories: Sendable {
    /// A base directory: its variable, and its usual place in the home directory.
    package enum Kind: Sendable {
        case cache, data, state

        package var variable: String {
            switch self {
            case .cache: "XDG_CACHE_HOME"
            case .data: "XDG_DATA_HOME"
            case .state: "XDG_STATE_HOME"
            }
        }

        fileprivate var usual: String {
            switch self {
            case .cache: ".cache"
            case .data: ".local/share"
            case .state: ".local/state"
            }
        }
    }

    private let environment: [String: String]
    private let home: String?

    /// - Parameters:
    ///   - environment: The variables of the process.
    ///   - home: The home directory if `HOME` is not set.
    package init(environment: [String: String], home: String?) {
        self.environment = environment
        self.home = Self.absolute(environment["HOME"]) ?? home
    }

    /// The directories of this process.
    package static var current: BaseDirectories {
        BaseDirectories(environment: ProcessInfo.processInfo.environment, home: homeInTheListOfUsers)
    }

    /// The path of a base directory; nil if the home directory is needed and unknown.
    package func path(_ kind: Kind) -> String? {
        Self.absolute(environment[kind.variable]) ?? home.map { ($0 == "/" ? "" : $0) + "/" + kind.usual }
    }

    /// Whether a text can be the name of a directory: 1 to 255 bytes without separators, not beginning with a full
    /// stop.
    package static func isName(_ name: String) -> Bool {
        1...255 ~= name.utf8.count && !name.hasPrefix(".")
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7F }
    }

    /// Returns nil for relative paths, which the specification ignores.
    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

    package static var homeInTheListOfUsers: String? {
        var text = [CChar](repeating: 0, count: 16 << 10)
        return text.withUnsafeMutableBufferPointer { text in
            var (user, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            // The fields of the entry point into the text, so it must stay alive here.
            guard let start = text.baseAddress,
                getpwuid_r(geteuid(), &user, start, text.count, &found) == 0, found != nil, let home = user.pw_dir
            else { return nil }
            return absolute(String(cString: home))
        }
    }
}
