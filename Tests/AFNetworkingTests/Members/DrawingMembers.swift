import Foundation
import LinnetAFNetworking

// The categories of UIKit's classes, as methods of LinnetUIState's states.
extension Header {
    @MainActor static var imageView: Header {
        var header = Header("UIImageView+AFNetworking", isDrawing: true)
        let url = URL(filePath: "/")
        header.differs("setSharedImageDownloader:") { ImageState<UIImage>.setSharedImageDownloader(.defaultInstance()) }
        header.differs("sharedImageDownloader") { _ = ImageState<UIImage>.sharedImageDownloader() as AFImageDownloader }
        header.differs("setImageWithURL:") { try ImageState<UIImage>().setImageWith(url) }
        header.differs("setImageWithURL:placeholderImage:") {
            try ImageState<UIImage>().setImageWith(url, placeholderImage: nil)
        }
        header.differs("setImageWithURLRequest:placeholderImage:success:failure:") {
            try ImageState<UIImage>().setImageWith(
                URLRequest(url: url), placeholderImage: nil,
                success: { (_: URLRequest, _: HTTPURLResponse?, _: UIImage) in },
                failure: { (_: URLRequest, _: HTTPURLResponse?, _: any Error) in })
        }
        header.differs("cancelImageDownloadTask") { try ImageState<UIImage>().cancelImageDownloadTask() }
        return header
    }

    @MainActor static var button: Header {
        var header = Header("UIButton+AFNetworking", isDrawing: true)
        let url = URL(filePath: "/")
        let make = { try ButtonImageState<UIImage>() }
        header.leftOut("setSharedImageDownloader:", "sharedImageDownloader")
        header.differs("setImageForState:withURL:") { try make().setImageFor(.normal, with: url) }
        header.differs("setImageForState:withURL:placeholderImage:") {
            try make().setImageFor(.normal, with: url, placeholderImage: nil)
        }
        header.differs("setImageForState:withURLRequest:placeholderImage:success:failure:") {
            try make().setImageFor(
                .normal, with: URLRequest(url: url), placeholderImage: nil, success: nil, failure: nil)
        }
        header.differs("setBackgroundImageForState:withURL:") { try make().setBackgroundImageFor(.normal, with: url) }
        header.differs("setBackgroundImageForState:withURL:placeholderImage:") {
            try make().setBackgroundImageFor(.normal, with: url, placeholderImage: nil)
        }
        header.differs("setBackgroundImageForState:withURLRequest:placeholderImage:success:failure:") {
            try make().setBackgroundImageFor(
                .normal, with: URLRequest(url: url), placeholderImage: nil, success: nil, failure: nil)
        }
        header.differs("cancelImageDownloadTaskForState:") { try make().cancelImageDownloadTask(for: .normal) }
        header.differs("cancelBackgroundImageDownloadTaskForState:") {
            try make().cancelBackgroundImageDownloadTask(for: .normal)
        }
        return header
    }

    @MainActor static var taskCategories: [Header] {
        let tasks = { AFURLSessionManager().tasks }
        var indicator = Header("UIActivityIndicatorView+AFNetworking", isDrawing: true)
        indicator.differs("setAnimatingWithStateOfTask:") { ActivityState().setAnimatingWithStateOf(tasks().first) }
        var refresh = Header("UIRefreshControl+AFNetworking", isDrawing: true)
        refresh.differs("setRefreshingWithStateOfTask:") { RefreshState().setRefreshingWithStateOf(tasks().first) }
        var progress = Header("UIProgressView+AFNetworking", isDrawing: true)
        progress.differs("setProgressWithUploadProgressOfTask:animated:") {
            TransferProgressState().setProgressWithUploadProgressOf(tasks().first, animated: true)
        }
        progress.differs("setProgressWithDownloadProgressOfTask:animated:") {
            TransferProgressState().setProgressWithDownloadProgressOf(tasks().first, animated: true)
        }
        var web = Header("WKWebView+AFNetworking", isDrawing: true)
        web.leftOut("sessionManager", "loadRequest:navigation:progress:success:failure:")
        web.leftOut("loadRequest:navigation:MIMEType:textEncodingName:progress:success:failure:")
        return [indicator, refresh, progress, web]
    }

    /// All public headers of AFNetworking 4.0.1.
    @MainActor static var all: [Header] {
        [
            .urlSessionManager, .httpSessionManager, .requestSerialization, .responseSerialization, .securityPolicy,
            .reachability, .imageDownloader, .imageCache, .activityIndicator, .imageView, .button,
        ] + taskCategories
    }
}
