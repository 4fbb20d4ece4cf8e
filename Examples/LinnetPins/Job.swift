import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// The validated command line.
enum Job {
    case list([Target], TrustAnchors, timeout: Duration)
    case check(String, [Target], as: HostAndPort?, timeout: Duration)
    case lint(String, notice: Double)

    init(_ arguments: Arguments) throws {
        guard arguments.timeout > 0, arguments.timeout <= 3600 else {
            throw UsageError("--timeout \(arguments.timeout) is out of range; specify seconds above 0, up to 3600.")
        }
        let timeout = Duration.seconds(arguments.timeout)
        let targets = try arguments.targets.map(Target.init)
        guard arguments.host == nil || arguments.check != nil else { throw UsageError("--as requires --check.") }
        switch (arguments.check, arguments.lint) {
        case (_?, _?): throw UsageError("--check and --lint cannot be combined; omit one of them.")
        case (let path?, nil):
            guard arguments.cacert == nil else {
                throw UsageError("--check and --cacert cannot be combined, because the policy determines the anchors.")
            }
            guard !targets.isEmpty else { throw UsageError("--check needs a host, or a file with --as.") }
            self = .check(path, targets, as: try Self.host(arguments, targets), timeout: timeout)
        case (nil, let path?):
            guard targets.isEmpty else { throw UsageError("--lint checks the policy only; omit the hosts.") }
            guard arguments.notice >= 0, arguments.notice.isFinite else {
                throw UsageError("--notice is out of range; specify a number of days of 0 or more.")
            }
            self = .lint(path, notice: arguments.notice)
        case (nil, nil):
            guard !targets.isEmpty else {
                throw UsageError(
                    "Specify a host or a file, such as \"\(ProgramName.inMessages(of: "pins")) example.com\". See --help."
                )
            }
            self = .list(targets, try arguments.cacert.map { try .file($0) } ?? .system, timeout: timeout)
        }
    }

    /// The host for which files are evaluated, which --as must specify.
    private static func host(_ arguments: Arguments, _ targets: [Target]) throws -> HostAndPort? {
        let files = targets.compactMap { target in if case .file(let path) = target { path } else { nil } }
        guard let text = arguments.host else {
            guard let file = files.first else { return nil }
            throw UsageError("\"\(file)\" is a file: specify with --as the host for which it is evaluated.")
        }
        guard files.count == targets.count else { throw UsageError("--as applies to files only; omit the hosts.") }
        guard let host = HostAndPort(text) else { throw UsageError("--as \"\(text)\" is not a valid host.") }
        return host
    }
}
