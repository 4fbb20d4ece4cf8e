public import FoundationEssentials

/// Marks what a ``TransferTask`` is made for.
public protocol TransferKind: Sendable {
    /// The same, as a value.
    static var kind: TaskKind { get }
}

/// Marks a ``DataTask``.
public enum DataTransfer: TransferKind {
    /// `.data`.
    public static let kind = TaskKind.data
}

/// Marks an ``UploadTask``.
public enum UploadTransfer: TransferKind {
    /// `.upload`.
    public static let kind = TaskKind.upload
}

/// Marks a ``DownloadTask``.
public enum DownloadTransfer: TransferKind {
    /// `.download`.
    public static let kind = TaskKind.download
}

/// Marks a ``StreamTask``.
public enum StreamTransfer: TransferKind {
    /// `.stream`.
    public static let kind = TaskKind.stream
}

/// A handle on a request whose response ends up in memory, read into a value.
public typealias DataTask<Value: Sendable> = TransferTask<DataTransfer, Value>

/// A handle on a request that is about what it sends: bytes, a file, a stream, a multipart form.
public typealias UploadTask<Value: Sendable> = TransferTask<UploadTransfer, Value>

/// A handle on a request whose response becomes a file; its response's value is where the file is.
public typealias DownloadTask = TransferTask<DownloadTransfer, URL>

/// A handle on a request whose response is read as it comes, from ``TransferTask/response``.
public typealias StreamTask = TransferTask<StreamTransfer, Void>
