import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// What the command line asks for, once all of it is known to make sense.
enum Job {
    case list([Target], TrustAnchors, timeout: Duration)
    case check(String, [Target], as: Target.Host?, timeout: Duration)
    case lint(String, notice: Double)

    init(_ arguments: Arguments) throws {
        guard arguments.timeout > 0, arguments.timeout <= 3600 else {
            throw UsageError("--timeout \(arguments.timeout) is no time to wait; give seconds above 0, up to 3600.")
        }
        let timeout = Duration.seconds(arguments.timeout)
        let targets = try arguments.targets.map(Target.init)
        guard arguments.host == nil || arguments.check != nil else { throw UsageError("--as goes with --check.") }
        switch (arguments.check, arguments.lint) {
        case (_?, _?): throw UsageError("Give either --check or --lint.")
        case (let path?, nil):
            guard arguments.cacert == nil else { throw UsageError("With --check the policy says what is trusted.") }
            guard !targets.isEmpty else { throw UsageError("--check needs a host to judge, or a file with --as.") }
            self = .check(path, targets, as: try Self.host(arguments, targets), timeout: timeout)
        case (nil, let path?):
            guard targets.isEmpty else { throw UsageError("--lint looks at the policy alone; leave the hosts out.") }
            guard arguments.notice >= 0, arguments.notice.isFinite else {
                throw UsageError("--notice is no number of days.")
            }
            self = .lint(path, notice: arguments.notice)
        case (nil, nil):
            guard !targets.isEmpty else {
                throw UsageError("Name a host or a file, such as \"linnet-pins example.com\"; --help has more.")
            }
            self = .list(targets, try arguments.cacert.map { try .file($0) } ?? .system, timeout: timeout)
        }
    }

    /// As whom files are judged: nobody can tell from a file whose it should be.
    private static func host(_ arguments: Arguments, _ targets: [Target]) throws -> Target.Host? {
        let files = targets.compactMap { target in if case .file(let path) = target { path } else { nil } }
        guard let text = arguments.host else {
            guard let file = files.first else { return nil }
            throw UsageError("\"\(file)\" is a file: say with --as which host it is to be judged for.")
        }
        guard files.count == targets.count else { throw UsageError("--as is for files; leave the hosts out.") }
        guard let host = Target.Host(text) else { throw UsageError("--as \"\(text)\" is no host.") }
        return host
    }
}
