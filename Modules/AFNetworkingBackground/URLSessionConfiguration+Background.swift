public import FoundationEssentials
public import LinnetAFNetworking
internal import LinnetBackground

extension URLSessionConfiguration {
    /// The configuration of a background session: its downloads and uploads go on after the end of the process.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.models")
    /// let manager = AFURLSessionManager(sessionConfiguration: configuration)
    /// manager.setDownloadTaskDidFinishDownloading { _, task, _ in folder.appending(path: task.taskDescription ?? "model") }
    /// ```
    /// A manager with the configuration adopts the tasks that an earlier process has left: they are among its `tasks`,
    /// transfer on, and call the manager's blocks. The session is opened in the next turn of the main queue, after a
    /// second at most, or when the program asks for `tasks`, so that a program that sets its policy and its blocks when
    /// it makes the manager has them in time.
    ///
    /// One manager at a time, in one process, has the session of an identifier; the tasks of another wait for its end.
    /// While no program has it, an agent can transfer its tasks (`linnet-transfers agent`).
    ///
    /// The session has downloads and uploads of files. Data tasks, uploads of data or streams, and resume data are
    /// refused with `NSURLErrorBadURL`. Responses have up to 16 KiB of header fields, and uploads up to 64 KiB of the
    /// response. A task has seven days (`timeoutIntervalForResource`);
    /// until then, idempotent requests are repeated after network errors. A response of the server is final.
    ///
    /// - Parameter identifier: The name of the session's directory below `$XDG_STATE_HOME`: 1 to 255 bytes without
    ///   separators, not beginning with a full stop. With any other, each task fails.
    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        var configuration = HTTPSession.Configuration.ephemeral
        configuration.timeouts.request = .seconds(7 * 86_400)
        let background = BackgroundSettings(identifier: identifier) { JournalEngine($0, $1, $2) }
        return URLSessionConfiguration(configuration, transport: nil, background: background)
    }

    /// The directory of a background session. The default is nil: `linnet/background/IDENTIFIER` below
    /// `$XDG_STATE_HOME`, which is `~/.local/state` by default. Setting it has no effect on other configurations.
    public var backgroundDirectory: URL? {
        get { background?.directory }
        set { background?.directory = newValue }
    }

    /// Whether a background session stores requests with credentials, in clear text, readable for the user. The default
    /// is false: a task with such a request fails with `NSURLErrorBadURL`. Fields of `httpAdditionalHeaders` are added
    /// to each attempt, and are never stored.
    public var storesSecrets: Bool {
        get { background?.storesSecrets ?? false }
        set { background?.storesSecrets = newValue }
    }

    /// Whether the tasks of a background session have a low priority among those that wait. The default is false.
    public var isDiscretionary: Bool {
        get { background?.isDiscretionary ?? false }
        set { background?.isDiscretionary = newValue }
    }

    /// Whether the system starts the program when its tasks have ended: always false, since nothing starts programs. An
    /// agent transfers the tasks without the program.
    public var sessionSendsLaunchEvents: Bool {
        get { false }
        set {}
    }
}
